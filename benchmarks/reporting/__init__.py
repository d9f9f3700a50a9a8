"""What is made of measured rows: figures, text, Markdown, pictures."""
