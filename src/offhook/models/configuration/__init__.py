"""An organization's model configuration: formats, resolution, checks, previews."""
