"""Tables: seats, rounds, the play service, deadlines and the sweeper, and what players and spectators are sent."""
