"""Agents' MCP config files: read, found on the machine, wrapped and unwrapped in place."""
