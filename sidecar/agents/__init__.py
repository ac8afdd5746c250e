"""Agent commands, their trials, and the MCP configs they read."""
