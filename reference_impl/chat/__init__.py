"""How a conversation becomes a prompt: markup, tool descriptions and their encoding into token ids."""
