"""Hundreds of clients, each with a small mirror, that follow a server over all transports while writers never pause."""
