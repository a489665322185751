"""What finished runs came to: read, compared, judged by the paper's claims, as one page."""
