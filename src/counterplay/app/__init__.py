"""What people touch: the command line, the browser, and the reproduction of the article."""
