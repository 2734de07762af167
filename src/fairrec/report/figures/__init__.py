"""Pictures of results: data in, an Altair chart or a file out."""
