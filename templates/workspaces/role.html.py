BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
 #
 #

BBBBB BBBBBXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXX XXXXXXX
    XXXXX XXXXXXXXXXXXX
      BB BBBBBBBBB BB BBBBB
         pgettext(u'state', u'Organization role') 
      BBBB
         pgettext(u'state', u'Team role') 
      BBBBB
    XXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXX XXXXXX
    XXXX XXXXXXXXXXXXXX
      BB BBBBBBBBBBBB
        XXXX XXXXXXXXXXX XXXXXX
          XXXXXXXX gettext(u'Some stored permissions have no effect:') XXXXXXXXX
          XXXXX XXXXXXXXXXXXXFFFFFFF FXXXXXXXX
           gettext(u'Saving the role removes them.') 
        XXXXXX
      BBBBB
      BB BBBBBB
        XXXX XXXXXXXXXXXXXX
          XXXXXXXX
            XXXX gettext(u'Preview: nothing has been saved yet') XXXXX
            XXXXX XXXXXXXXXXXXXXFFFFFFXXXXXXX
          XXXXXXXXX
          BB BBBBBBBBBBB
            XXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX
              XXXXXX XXXXXXXXXXX XXXXXXX
                XXXXXXX
                  BBB B BB BBBBBBBBBBB
                    XXXX
                      XXX XXXXXXXXXXXXXXXXXX
                      XXX XXXXXXXXXXXXX
                        BBB BBBBB BB BBBBBBBB
                          XXXXX
                            XXX pgettext(u'value', u'gains') XXXX FFFFFFF F
                            XXXXX XXXXXXXXXXXXXX
                              BB BBBBBBBBBB
                                 pgettext(u'value', u'in %(t)s') SS SSSSS
                              BBBB
                                 pgettext(u'value', u'everywhere') 
                              BBBBB
                            XXXXXXX
                          XXXXXX
                        BBBBBB
                        BBB BBBBB BB BBBBBB
                          XXXX XXXXXXXXXXXXXXXXXX
                            XXX pgettext(u'value', u'loses') XXXX FFFFFFF F
                            XXXXX XXXXXXXXXXXXXX
                              BB BBBBBBBBBB
                                 pgettext(u'value', u'in %(t)s') SS SSSSS
                              BBBB
                                 pgettext(u'value', u'everywhere') 
                              BBBBB
                            XXXXXXX
                          XXXXXX
                        BBBBBB
                      XXXXX
                    XXXXX
                  BBBBBB
                XXXXXXXX
              XXXXXXXX
            XXXXXX
          BBBB
            XXXX XXXXXXXXXXX XXXXXXX gettext(u'Nobody would gain or lose access.') XXXXXX
          BBBBB
        XXXXXX
      BBBBB
      XXXX XXXXXXXXXXXXXX
        XXXXXXXX
          XXXX pgettext(u'heading', u'Permissions') XXXXX
        XXXXXXXXX
        XXXXX XXXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXX
          BBBBBBBBBB
          XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXXX
          XXXX XXXXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXXXXX
              XXXXXX pgettext(u'field', u'Name') XXXXXXX
              XXXXXX XXXXXXXXXXX
                     XXXXXXXXXXX
                     XXXXXXXXXXXXXXX
                     XXXXXXXX
                     XXXXXXXX
                     BB BBB BBBBBBBBBXXXXXXXXBBBBBX
            XXXXXXXX
          XXXXXX
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
          BB BBBBBBBBB
            XXXX XXXXXXXXXXXX
              XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXX XXXXXXXXXXXX BB BBBBBBBXXXXXXXXXXXXXX ngettext(u'Save the role? The access of one person changes at once.', u'Save the role? The access of %(n)s people changes at once.', count) 
                        SSSS SSS SSSSS SSS SSSSSS SS SSS SSSSSS SSSSSSS SS SSSSS
                      
                        PPPP PPP PPPPP PPP PPPPPP PP PPPPP PPPPPP PPPPPPP PP PPPPP
                      XBBBBBX pgettext(u'button', u'Save') XXXXXXXXX
              XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXX pgettext(u'button', u'Preview changes') XXXXXXXXX
              XXXXXXX XXXXXXXXXX XXXXX XXXXXXX
                      XXXXXXXXX
                      XXXXXXXXXXXXXX
                      XXXXXXXXXXXXXX
                      XXXXXXXXXXXXXX gettext(u'Delete the role %(n)s permanently?') 
                        SSSSSS SSS SSSS SSSSS SSSSSSSSSSSS
                      XX pgettext(u'button', u'Delete') XXXXXXXXX
            XXXXXX
          BBBBB
        XXXXXXX
      XXXXXX
    XXXXXX
    XXXX XXXXXXXXXXXXXX
      XXXXXXXX
        XXXX gettext(u'People with this role') XXXXX
        XXXXX XXXXXXXXXXXXXXFFFFFFXXXXXXX
      XXXXXXXXX
      XXXX XXXXXXXXXXX XXXXXXXXX
        BBB B BB BBBBBBB
          XXXX XXXXXXXXXXXXXXXXXXX
        BBBBB
          XX XXXXXXXXXXXX XXXXXXX
            BB BBBBBBBBB BB BBBBB
               gettext(u'Nobody yet. Assign it on the People page.') 
            BBBB
               gettext(u"Nobody yet. Assign it on a team's page.") 
            BBBBB
          XXXX
        BBBBBB
      XXXXXX
    XXXXXX
  XXXXXX
BBBBBBBB
