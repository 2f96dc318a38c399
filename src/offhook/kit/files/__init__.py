"""Files: object storage, the data folder, CSV and downloads."""
