BBBB BBBB BBBBBB
 #

BBBB BBBBBBBBBBB
  XXX XXXXXXXXXXXXX
    XXXX XXXXXXXXXXXX
      XXXXXXXX XXXXXXXX XX
      XXXXX XXXXXXXXXXX XXXX XXXXX XXXXXXXXXXXXXXXX
      BB BBBBBBBB
        XXXXX XXXXXXXXXXXXX
           npgettext(u'number of things', u'and %(n)s more', u'and %(n)s more',count) 
            SSS SSSSS SSSS
          
            PPP PPPPP PPPP
          
        XXXXXXX
      BBBBB
      BB BBBBBBBBB BBB BBBBBBBBBBBBB BB BBBBBBBBB BBB BBBBBBBBBBBBBB
        XXXXX XXXXXXXXXXXXXX
          BBBBBBBBBB
          XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXX
          BB BBBBBBBBBBBBB
            XXXXXXX XXXXXXXXXX XXXXXX XXXXXXXXX XXXXXXXXXXXXXXX pgettext(u'button', u'Cancel') XXXXXXXXX
          BBBB
            XXXXXXX XXXXXXXXXX XXXXXX XXXXXXXXX XXXXXXXXXXXXXXX pgettext(u'button', u'Resume') XXXXXXXXX
          BBBBB
        XXXXXXX
      BBBBB
    XXXXXX
    BB BBBBBBBBBBBBB
      XXXXXXXXX XXXXXXX
                BB BBBBBBBBB BB BBB BBBBXXXXXXXFFFFFFFFFFFFFFFFXBBBBB
                XXXXXXXXXXXXXXXXXXXXXXXXX
    BBBBB
    XX XXXXXXXXXXXX XXXXX XXXXXXX
      XXXXXX
        BB BBBBBBBBB BB BBBB
          BB BBBBBBBBBBBBB
             gettext(u'Listing the source') 
          BBBB
             gettext(u'Nothing was fetched') 
          BBBBB
        BBBB BBBBBBBBB BB BBBB
           pgettext(u'text, datasets', u'%(done)s of %(files)s files, %(size)s') 
            SSSSSSSS SS SSSSSSSSS SSSSSS SSSSSSSS
          
        BBBB
           pgettext(u'text, datasets', u'%(done)s of %(files)s files, %(size)s of %(all)s') 
            SSSSSSSS SS SSSSSSSSS SSSSSS SSSSSSSS SS SSSSSSS
          
        BBBBB
      XXXXXXX
      BB BBBBBBBBBBB
        XX XXXXXXBBB BBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBXX
           pgettext(u'link', u'version %(n)s') 
            SSSSSSS SSSSS
          
        XXXX
      BBBBB
      XXXXXXXXXXXXX
      XXXXXXFFFXXXXXXX
    XXXX
    BB BBBBBBBBB
      XX XXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXX
        FFFFFFFFFF
        BB BBBBBBBBBBBBB
           gettext(u'It is tried again.') 
        BBBBB
      XXXX
    BBBBB
  XXXXX
BBBBBBB
