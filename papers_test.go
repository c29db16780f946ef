package heatwalk_test

import _ "github.com/heatwalk/heatwalk/papers"
