"""Networks and policies as plain arrays, and pure functions of them."""
