import type { Ground, Writing } from '../ground.ts'
import type { Audit } from './append.ts'

export type Deps = Ground & Audited

/** Puts an entry on the audit chain. */
export type Audited = { audit: Audit }
/** Acts for somebody: a write with its audit entry. */
export type Acting = Writing & Audited
/** Changes settings for somebody, with an audit entry: keys, tenants, templates, trust, signing, people. */
export type Setting = Pick<Ground, 'writeSettings' | 'now'> & Audited
