"""Programs that run beside us and import nothing of ours but ``frames``: small, and free to crash."""
