import { useWords } from '../shared/language.tsx'
import * as de from '../shared/strings/de.ts'
import * as en from '../shared/strings/en.ts'

type DemoWords = typeof en.demo

export const useDemoWords = (): DemoWords => useWords({ en: en.demo, de: de.demo })
