#!/usr/bin/env node
// Here and not in dist, because npm links commands before anything is built.
import '../dist/cli/main.js'
