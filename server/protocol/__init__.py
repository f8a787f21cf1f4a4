"""The MCP server: tools, resources, prompts, instructions."""
