import { useWords } from '../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useGoLiveWords = () => useWords({ en: en.goLive, de: de.goLive })
