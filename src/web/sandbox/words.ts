import { useWords } from '../shared/language.tsx'
import * as de from '../shared/strings/de.ts'
import * as en from '../shared/strings/en.ts'

export type SandboxWords = typeof en.sandbox

export const useSandboxWords = (): SandboxWords => useWords({ en: en.sandbox, de: de.sandbox })
