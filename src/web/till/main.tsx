import { mount } from '../kit/mount.tsx'
import { putAwayStale } from './check/check.ts'
import { install } from './install/install.ts'
import { TillPage } from './till.tsx'

install()
putAwayStale()
mount(<TillPage />)
