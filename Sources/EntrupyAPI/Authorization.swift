// The members of the types in this module have the same names on the wire.

import SimulationAPI
