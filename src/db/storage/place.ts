import type { DatabaseSettings } from '../database-url.ts'

/** The place of the rows: the file of a directory, unless a server is named. */
export type Place = { dataDir: string; database: DatabaseSettings | undefined }
