"""How long an organization keeps what its calls leave."""
