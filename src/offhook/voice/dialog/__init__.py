"""The graph interpreter and what it asks of models, tools and documents."""
