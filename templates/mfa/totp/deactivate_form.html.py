BBBBBBB BBBBBBBBBBB
BBBB BBBB
BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBB
   pgettext(u'page title', u'Authenticator app') 
BBBBBBBB
BBBBB BBBB
   pgettext(u'text, mfa', u'Authenticator app') 
BBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXXXXXXXXXX
    XXXXX
      XXXX gettext(u'Remove the authenticator app?') XXXXX
      XX XXXXXXXXXXXX
         gettext(u"Without another second factor, your password alone signs you in, and organizations that require two-factor authentication won't let you in.") 
          SSSSSSS SSSSSSS SSSSSS SSSSSSS SSSS SSSSSSSS SSSSS SSSSS SSS SSS SSS SSSSSSSSSSSSS SSSS SSSSSSS SSSSSSSSSS
          SSSSSSSSSSSSSS SSSSS SSS SSS SSS
        
      XXXX
    XXXXXX
  XXXXXX
  XXXXX XXXXXXXXXXXXX
        XXXXXXXXXX XXXXXX
        XXXXXXXXBBB BBBBBBBBBBBBBBBBBBBBBXX
    BBBBBBBBBB
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBB
    XXXXXXX XXXXXXXXXX XXXXXXX XXXXXXXXXXXXXX pgettext(u'button', u'Remove') XXXXXXXXX
    XX XXXXXXXXXX XXXXXX XXXXXXBBB BBBBBBBBBBBXX pgettext(u'button', u'Cancel') XXXX
  XXXXXXX
BBBBBBBB
