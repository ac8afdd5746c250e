"""Bytes to JSON-RPC messages and back, and what we read of MCP. Pure."""
