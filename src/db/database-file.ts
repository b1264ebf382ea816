import { statSync } from 'node:fs'
import { join } from 'node:path'

export const databaseFile = (dir: string): string => join(dir, 'vidimus.db')

export const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/** An instant in the name of a file: 20260304T120000Z. */
export const stampOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
