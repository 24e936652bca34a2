"""What stands between the tests and AWS: moto, made as strict as AWS where the program leans on it."""
