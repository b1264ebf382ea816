import { useWords } from '../../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useShopWords = () => useWords({ en: en.shop, de: de.shop })
