import { useWords } from '../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

type DemoWords = typeof en.demo

export const useDemoWords = (): DemoWords => useWords({ en: en.demo, de: de.demo })
