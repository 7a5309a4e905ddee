"""Loop closure by pictures, in still water and in waves."""
