BBBBBBB BBBBBBBBBBB
BBBB BBBB
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
      XXXX gettext(u'Generate new recovery codes?') XXXXX
      XX XXXXXXXXXXXX
        BB BBBBBBBBBBBBBBBBB
           gettext(u'Your %(n)s remaining codes will stop working.') 
            SSSS SSSSS SSSSSSSSS SSSSS SSSS SSSS SSSSSSSS
          
        BBBB
           gettext(u'The new codes are shown only once.') 
        BBBBB
      XXXX
    XXXXXX
  XXXXXX
  XXXXX XXXXXXXXXXXXX
        XXXXXXXXXX XXXXXX
        XXXXXXXXBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBXX
    BBBBBBBBBB
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBB
    XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXX pgettext(u'button', u'Generate') XXXXXXXXX
    XX XXXXXXXXXX XXXXXX XXXXXXBBB BBBBBBBBBBBXX pgettext(u'button', u'Cancel') XXXX
  XXXXXXX
BBBBBBBB
