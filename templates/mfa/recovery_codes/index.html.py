BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBB
   pgettext(u'page title', u'Recovery codes') 
BBBBBBBB
BBBBB BBBB
   pgettext(u'text, mfa', u'Recovery codes') 
BBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXXXXXXXXXX
    XXXXX
      XXXX pgettext(u'page title', u'Recovery codes') XXXXX
      XX XXXXXXXXXXXX
         gettext(u'%(n)s codes. Each one signs you in once if you lose your device.') 
          SSSSS SSSSSS SSSS SSS SSSSS SSS SS SSSS SS SSS SSSS SSSS SSSSSSS
        
      XXXX
    XXXXXX
  XXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBBBBBBBBBBBBB
      XXXX XXXXXXXXXXX XXXX XXXXXXXXX
        XXX
          XXXXXXXX gettext(u"Save these codes somewhere other than this device. They're shown only once.") XXXXXXXXX
        XXXX
        XXXX XXXXXXXXXXXXX
          XXXX XXXXXXXXXXXXXXXXXXXXFFFFFXXXXXX
          XXXXXXX XXXXXXXXXX XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Copy') XXXXXXXXX
        XXXXXX
      XXXXXX
    BBBB
      XXXX XXXXXXXXXXXXX
         gettext(u"Codes are shown only when they're generated. If you lost them, generate new ones; the old codes then stop working.") 
          SSSSS SSS SSSSS SSSS SSSS SSSSSSS SSSSSSSSSS SS SSS SSSS SSSSS SSSSSSSS SSS SSSSS SSS SSS SSSSS SSSS SSSS
          SSSSSSSS
        
      XXXXXX
    BBBBB
    XXXX XXXXXXXXXX XXXXXXX
      XX XXXXXXXXXX XXXXXXXX XXXXXXBBB BBBBBBBBBBBXX pgettext(u'button', u'Done') XXXX
      XX XXXXXXXXXXX XXXXXXBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBXX gettext(u'Generate new codes') XXXX
    XXXXXX
  XXXXXX
BBBBBBBB
