"""What the tests of jobs share: real queues, real worker processes, and an account of calls."""
