"""MCP over HTTP: the listener, the relay, and what bridges HTTP and lines."""
