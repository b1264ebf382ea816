import type { DatabaseSettings } from '../database-url.ts'

/** Where an installation has its rows: in the file of a directory, unless a server is named. */
export type Place = { dataDir: string; database: DatabaseSettings | undefined }
