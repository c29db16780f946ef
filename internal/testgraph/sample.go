package testgraph

import "os"

// Hunt says that sweeps over plans, kills and random files are to be long ones:
// every case, not a sample. HEATWALK_HUNT=1 sets it.
var Hunt = os.Getenv("HEATWALK_HUNT") != ""
