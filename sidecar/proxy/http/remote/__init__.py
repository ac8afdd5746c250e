"""A server at a URL, spoken with as with a process: a client of both transports and eras."""
