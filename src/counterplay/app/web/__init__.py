"""The table in the browser: play, watch it learn, explore, exploit, runs. `counterplay serve`
starts it."""
