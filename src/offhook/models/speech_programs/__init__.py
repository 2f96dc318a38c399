"""Programs of their own behind a pipe, and the server's ends of them.

A program loads nothing else of Offhook: this folder's parent is added to its path, under which it is a package of its own.
"""
