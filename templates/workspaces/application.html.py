BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXX XXXXXX XX
  XXXX XXXXXXXXXXXXXX
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
    XXX XXXXXXXXXXXXXX
      XXXX gettext(u'People who use it') XXXXX
      XXXX
        
      XXXXX
      XXXX pgettext(u'name of a value', u'Registered') XXXXX
      XXXX
        FFF
      XXXXX
      XXXXXXXXXXXXX
      XXXX
        BB BBBBBBBBBBBBBB
           pgettext(u'value', u'Required') 
        BBBB
           pgettext(u'value', u'Not required') 
        BBBBB
      XXXXX
    XXXXX
    BB BBBBBBBBB
       pgettext(u'heading', u'Settings') 
      XXXXXXXX XXXXXXXXXXXXXXX
        XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXX
          BBBBBBBBBB
          XXXXXXXX XXXXXXX pgettext(u'field', u'Name') XX
            XXXXXX XXXXXXXXXXX
                   XXXXXXXXXXX
                   XXXXXXXX
                   XXXXXXXX
                   XXXXXXXXXXXXXXXX
          XXXXXXXXXX
          XXXXXXXX XXXXXXX pgettext(u'field', u'Redirect URIs') X
                   XXXXXX gettext(u'One per line. They must match exactly.') XX
            XXXXXXXXX XXXXXXXXXXXXXXXX XXXXXXXX XXXXXXXXXFFFFFXXXXXXXXXXX
          XXXXXXXXXX
          XXXXXX XXXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXXXXXX
                   XXXXXXXXXXXXXXXXXXX
                   BB BBB BBBBBBBBBBBBBBXXXXXXXBBBBBX
            XXXXXX gettext(u"The application doesn't support PKCE") XXXXXXX
          XXXXXXXX
          XXXXX
            XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXX pgettext(u'button', u'Save') XXXXXXXXX
          XXXXXX
        XXXXXXX
      XXXXXXXXXX
       pgettext(u'heading', u'Client secret') 
      XXXXXXXX XXXXXXXXXXXXXXX
        XX XXXXXXXXXXXX XXXXXXX gettext(u'Create a new secret if the old one is lost or leaked.') XXXX
        XXXXX XXXXXXXXXXXXX
              XXXXXXXXXXXXXX gettext(u'Create a new secret for %(n)s? The old one stops working at once.') 
                SSSSSS S SSS SSSSSS SSS SSSSSS SSS SSS SSS SSSSS SSSSSSS SS SSSSS
              XX
          BBBBBBBBBB
          BBBB
          XXXXXXX XXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXX pgettext(u'button', u'New secret') XXXXXXXXX
        XXXXXXX
      XXXXXXXXXX
      XXXXX XXXXXXXXXXXXX
            XXXXXXXXXXXXXX gettext(u'Delete %(n)s permanently? People can no longer sign in to it with Muster.') 
              SSSSSS SSSSS SSSSSSSSSSSS SSSSSS SSS SS SSSSSS SSSS SS SS SS SSSS SSSSSSS
            XX
        BBBBBBBBBB
        XXXXXXX XXXXXXXXXX XXXXXXX
                XXXXXXXXXXX
                XXXXXXXXXXXXXXX pgettext(u'button', u'Delete permanently') XXXXXXXXX
      XXXXXXX
    BBBB
       pgettext(u'heading', u'Redirect URIs') 
      XXXXXXXX XXXXXXXXXXXXXXX
        BBB BBBBBBB BB BBBBBBBBBBBBBXXXX XXXXXXXXXXX XXXXXXXXXXXXXBBBBBB
      XXXXXXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
