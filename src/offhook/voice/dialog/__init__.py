"""The graph interpreter and its use of models, tools and documents."""
