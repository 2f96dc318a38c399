"""The embedding model that needs no vendor: all-MiniLM-L6-v2 on onnxruntime."""
