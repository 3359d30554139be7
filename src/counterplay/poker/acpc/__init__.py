"""The protocol of the Annual Computer Poker Competition, two-player limit hold'em with "reverse
blinds": a client for its dealer, and a dealer that behaves as the competition's.

Position 0 is the big blind, our seat 1; position 1 the dealer, our seat 0. Read `protocol`,
`player` (a bot behind the protocol), `client`, then `plan`, `dealer` and `server`.
"""
