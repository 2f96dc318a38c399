"""The rules of dialling, one a file: pure functions over values, so that each can be tried at every hour and clock."""
