import { randomBytes } from 'node:crypto'
import { createApp } from '../app.ts'
import { type Config, loadConfig } from '../config.ts'
import type { Deps } from '../deps.ts'
import { describeRoutes } from '../http/openapi.ts'
import { createSealer } from '../seal.ts'
import { parseCall, print } from './output.ts'

