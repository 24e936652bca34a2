"""The double keeps the rules of AWS that the program leans on. Run: `DOUBLE_PORT=N python -m unittest`."""
