"""The verifier as one web page: an implementation of its own, in JavaScript, on the browser's cryptography."""
