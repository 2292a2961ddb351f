"""What the end-to-end tests share: the real server, a client that checks the contract, seeded histories."""
