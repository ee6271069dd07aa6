// The texts of durations and sizes belong to the wire's vocabulary: who sees this module reads and prints them.
@_exported import Measures
