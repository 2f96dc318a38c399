"""What keeps a call from going silent, wrong or on forever."""
