import { useWords } from '../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export type SandboxWords = typeof en.sandbox

export const useSandboxWords = (): SandboxWords => useWords({ en: en.sandbox, de: de.sandbox })
