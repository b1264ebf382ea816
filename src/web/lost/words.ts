import { useWords } from '../shared/language.tsx'
import * as de from '../shared/strings/de.ts'
import * as en from '../shared/strings/en.ts'

export const useLostWords = () => useWords({ en: en.lost, de: de.lost })
